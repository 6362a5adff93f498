"""The trusted side of confinement: starts the fork server, talks to workers, and believes nothing they say."""

"""Why a check failed: the likely cause, as one sentence for the student.

Theory of operation, with check 2.3a (attention) of a submission that forgot the scale 1 / sqrt(d) as the example:

1. *Compare.* While a check runs, every comparison is recorded: what was compared ("weights"), what came, what was
   expected. The check fails at the first comparison, the one of the weights.
2. *Numbers* (`hints`, asked by `causes`). The value that failed is laid beside the expected one. Each look tries one
   explanation on all of the numbers: a constant factor, exchanged axes, NaN rows, a softmax over another axis, and so
   on. Here the weights are those of scores that are 3.3166 times too large, and 3.3166 is the square root of 11, the
   size of the last axis of argument 1. The first explanation that holds becomes a sentence. If none holds, nothing is
   said. An exception is explained by `exception_meanings` instead.
3. *Fingerprint* (`traces`, `fingerprint`). The values that were compared, and how each item of the check ended, are
   kept in a few hundred bytes. That is done for every check of the submission.
4. *Known mistakes* (`mistake_bank`). `softmark validate` ran each mistake file in the same checks and stored the same
   fingerprints. Draws are the same for everybody, so a mistake gives the same numbers everywhere: `no_scale` gave
   exactly these weights in 2.3a.
5. *Decide* (`diagnosis`), after all checks have run. `no_scale` is named where it agrees with the submission at the
   comparison that failed, unless other checks speak against it. Its docstring then comes before the sentence of step 2.
"""

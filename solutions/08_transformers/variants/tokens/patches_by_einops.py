"""Patches by einops, windows by torch's unfold."""

from einops import rearrange


def patchify(images, patch):
    if images.shape[-2] % patch or images.shape[-1] % patch:
        raise ValueError("not divisible")
    return rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=patch, q=patch)


def unpatchify(patches, patch, height, width):
    if height % patch or width % patch:
        raise ValueError("not divisible")
    return rearrange(patches, "b (h w) (p q c) -> b c (h p) (w q)", h=height // patch, p=patch, q=patch)


def windows(series, length, stride):
    if series.shape[1] < length:
        raise ValueError("too short")
    return rearrange(series.unfold(1, length, stride), "b n c t -> b n (t c)")

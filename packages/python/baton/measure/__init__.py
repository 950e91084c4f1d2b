"""Measures a GPU with PyTorch: operators of a model, and whole engine steps.

``python -m baton.measure --model config.json --system my_gpu --out mine`` writes operator tables
for ``--operators`` and a log of steps for ``baton calibrate``. It needs torch with CUDA and runs
dense models with random weights; see docs/calibrate.md.
"""

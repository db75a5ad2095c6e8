"""Training: one loop for everything that is trained, and what trainings share. Import the module that you need.

A new kind of training is a `loop.Job`; most of these modules load torch.
"""

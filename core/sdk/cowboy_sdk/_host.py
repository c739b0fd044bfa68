"""The door to the chain: `pvm_host` inside the VM, a fake of it anywhere else."""

try:
    import pvm_host
except ImportError:
    from . import mock_host as pvm_host

HostError = pvm_host.HostError

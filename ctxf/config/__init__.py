"""Configuration: files, environment and options into frozen `Settings`. Only the edges import it.

Later wins: defaults, the user's file (or the one that is named instead), the project's file,
environment, options. Every value can be traced to where it was set, and every fault to its line.
"""

from ctxf.config.fields import MAX_INTEGER, Settings
from ctxf.config.load import Loaded, check_settings, load_settings
from ctxf.config.places import ConfigFile

__all__ = ["MAX_INTEGER", "ConfigFile", "Loaded", "Settings", "check_settings", "load_settings"]

"""Flags and YAML file become one immutable Configuration."""

from exporter.configuration.build import build
from exporter.configuration.file import ConfigFile, json_schema, load
from exporter.configuration.model import Allow, Configuration, Log, Module, Server, Web

__all__ = [
    "Allow",
    "ConfigFile",
    "Configuration",
    "Log",
    "Module",
    "Server",
    "Web",
    "build",
    "json_schema",
    "load",
]

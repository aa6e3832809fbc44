"""Flags and YAML file become one immutable Configuration."""

from exporter.configuration.build import DEFAULT_SERVER, build
from exporter.configuration.file import ConfigFile, ModuleEntry, ServerEntry, json_schema
from exporter.configuration.loading import convert, convert_to, load
from exporter.configuration.model import (
    WILDCARDS,
    Allow,
    Auth,
    Configuration,
    DiscoverySource,
    DnsDiscovery,
    ElastiCacheDiscovery,
    FileDiscovery,
    HostSettings,
    Log,
    Module,
    Rules,
    Server,
    Web,
)
from exporter.configuration.servers import server
from exporter.configuration.yaml_text import Place, shown
from exporter.configuration.yaml_text import read as read_yaml
from exporter.configuration.yaml_text import write as write_yaml

__all__ = [
    "DEFAULT_SERVER",
    "WILDCARDS",
    "Allow",
    "Auth",
    "ConfigFile",
    "Configuration",
    "DiscoverySource",
    "DnsDiscovery",
    "ElastiCacheDiscovery",
    "FileDiscovery",
    "HostSettings",
    "Log",
    "Module",
    "ModuleEntry",
    "Place",
    "Rules",
    "Server",
    "ServerEntry",
    "Web",
    "build",
    "convert",
    "convert_to",
    "json_schema",
    "load",
    "read_yaml",
    "server",
    "shown",
    "write_yaml",
]

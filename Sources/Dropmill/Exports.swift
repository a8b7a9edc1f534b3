// A program that brings stages of its own imports this module alone.
@_exported public import Files
@_exported public import PipelineConfig
@_exported public import PipelineEngine
@_exported public import PipelineKit

@_exported public import struct SystemPackage.FilePath

// A program that watches folders imports this module alone.
@_exported public import struct SystemPackage.Errno
@_exported public import struct SystemPackage.FilePath

// The kinds of stages that `dropmill` has (`StageRegistry.builtin`), and the programs that they need.
@_exported public import BuiltinStages

/// What programs that embed a product can name, by target: nothing else is `public`. Each name that is added here is a
/// promise for as long as the major version lasts.
enum PublicTypes {
    static let all: [String: Set<String>] = [
        "Files": ["ByteSize", "DropPath", "FileName", "IOError", "OpenFile"],
        "PipelineKit": [
            // A stage, and what describes it.
            "Stage", "StageDescriptor", "StageDescriptor.Effect", "StageDescriptor.Need", "StageRegistry",
            "StageServices", "StageOption", "AnyStageOption", "StageOptions", "OptionProblem", "PathTemplate",
            // Its work.
            "StageContext", "StageContext.JobFacts", "StageContext.Work", "Cancellation", "Cancellation.Reason",
            "StageProgress", "StageNotes", "Payload", "Payload.Shape", "TreeFile", "Failure", "Failure.Class",
            "StageFailure", "JobFailure", "Sentence", "Sentence.StringInterpolation",
            // Its job.
            "JobID", "Drop",
        ],
        "FolderWatch": [
            "FolderMonitor", "FolderMonitor.Options", "FolderMonitor.State", "FolderEntry", "FolderEntry.Kind",
            "FolderDifference", "Listening", "WatchError", "SettledFolder", "SettledFolder.Event",
            "SettledFolder.Options", "SettledFolder.Precision", "FileFollower", "FileFollower.Options",
            "FileFollower.Start", "FollowCheckpoint", "FollowedBytes", "FollowedLine",
        ],
        "PipelineConfig": ["PipelineDescription"],
        "PipelineEngine": ["PipelineStanding", "RunSummary", "RunSummary.Remaining"],
        "BuiltinStages": ["TypeProgram", "UnpackProgram"],
        "Dropmill": ["Mill", "MillError", "MillError.Kind", "MillEvent", "MillEvent.Kind", "helperMain"],
    ]

    /// The public types of a file, those within others by their full names, and its public functions.
    static func declared(in file: SourceFile) -> [String] {
        // What encloses the line, from the outside in.
        var enclosing: [(indent: Int, name: String)] = []
        return file.lines.compactMap { line in
            let declaration =
                #/
                ^(\ *)(?:@\w+\ )*(public\ )?(?:(?:private|fileprivate|package|final|indirect)\ )*
                (struct|class|enum|actor|protocol|extension|typealias|func)\ ([\w.]+)
                /#
            guard let match = line.firstMatch(of: declaration) else { return nil }
            let (indent, kind, name) = (match.1.count, match.3, String(match.4))
            while let last = enclosing.last, last.indent >= indent { enclosing.removeLast() }
            let full = (enclosing.map(\.name) + [name]).joined(separator: ".")
            if kind != "typealias", kind != "func" { enclosing.append((indent, name)) }
            guard match.2 != nil, kind != "extension", kind != "func" || indent == 0 else { return nil }
            return full
        }
    }
}

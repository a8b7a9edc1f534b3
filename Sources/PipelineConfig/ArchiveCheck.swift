import PipelineKit
import SystemPackage

/// Whether the folder that jobs are archived in is its own: what is put into an inbox is taken as a drop, and in a
/// folder of results it would be in others' way. By their paths alone: what does not answer is to hold up no start.
enum ArchiveCheck {
    /// `file`: the settings that name it.
    static func problems(
        with folder: FilePath, in file: FilePath, _ drafts: [PipelineDraft]
    ) -> [ConfigProblem] {
        let archive = ResolvedFolder(unseen: folder)
        for draft in drafts {
            let folders = [
                ("inbox", draft.inbox?.value), ("work folder", draft.workArea),
                ("processed folder", draft.processedFolder?.value), ("failed folder", draft.failed?.value),
            ]
            for case (let role, let path?) in folders {
                let other = ResolvedFolder(unseen: path)
                guard archive == other || archive.isInside(other) else { continue }
                let place = archive == other ? "is" : "is in"
                return [
                    ConfigProblem(
                        "'history.archive' \(place) the \(role) of the pipeline '\(draft.name?.value ?? "")', "
                            + "'\(other.text)'; name a folder that nothing else uses", in: file)
                ]
            }
        }
        return []
    }
}

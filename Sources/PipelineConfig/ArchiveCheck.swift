import PipelineKit
import SystemPackage

/// Whether the folder that jobs are archived in is its own: what is put into an inbox is taken as a drop, and in a
/// folder of results it would be in others' way.
enum ArchiveCheck {
    /// `file`: the settings that name it.
    static func problems(
        with folder: FilePath, in file: FilePath, _ drafts: [PipelineDraft], _ resolved: FolderResolver
    ) -> [ConfigProblem] {
        let archive = resolved(folder)
        for draft in drafts {
            let folders = [
                ("inbox", draft.inbox?.value), ("work folder", draft.workArea),
                ("processed folder", draft.processedFolder?.value), ("failed folder", draft.failed?.value),
            ]
            for case (let role, let path?) in folders {
                let other = resolved(path)
                guard archive.isSame(as: other) || archive.isInside(other) else { continue }
                let place = archive.isSame(as: other) ? "is" : "is in"
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

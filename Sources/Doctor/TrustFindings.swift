import Files
import Glibc
import PipelineEngine
import PipelineKit
import SystemPackage

extension OwnFolders {
    /// What a start would say of the way to the inbox.
    var inboxFindings: [Finding] { inboxFaults.map { .problem(.trust, $0.fact, $0.remedy.sentence) } }

    /// What a start would report about the path to one of the folders.
    func findings(on own: Own) -> [Finding] {
        let faults = faults(on: own)
        guard !faults.isEmpty else {
            return [.onlyOurs]
        }
        return faults.map { .problem(.trust, $0.fact, $0.remedy.sentence) }
    }
}

extension PrivateState {
    /// What a start would say of the state folder.
    static func findings(on folder: FilePath, trusting trusted: [FilePath]) -> [Finding] {
        var findings = faults(on: folder, trusting: trusted).map { fact, remedy in
            Finding.problem(.trust, fact, remedy.sentence)
        }
        if findings.isEmpty {
            findings = [.onlyOurs]
        }
        guard let owner = FileStatus.of(folder, followingLinks: true)?.st_uid, owner != geteuid() else {
            return findings
        }
        let user = CurrentUser.name
        return findings + [
            .note(
                .user,
                "these checks ran as \(user), and a daemon of \(user) refuses the state folder of "
                    + AccountName.user(owner),
                "Run this as the daemon's own user; or give \(user) the folder, once you know what is in it")
        ]
    }
}

extension Finding {
    fileprivate static var onlyOurs: Finding {
        let user = geteuid() == 0 ? "" : " and \(CurrentUser.name)"
        return .good(.trust, "only root\(user) can put another folder in its place")
    }
}

extension String {
    /// Capitalised, as remedies are here.
    fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() }
}

import Files
import Glibc
import SystemPackage

extension FolderTrust.Fault {
    /// What is wrong: `'/srv/out' is writable by others (root:staff, mode 2775)`.
    package var fact: String {
        let name = "'\(path.text)'"
        switch reason {
        case .owner where kind == .symbolicLink:
            return "the symbolic link \(name) belongs to \(AccountName.user(owner)), who can redirect it"
        case .owner:
            return "\(name) belongs to \(AccountName.user(owner)) (mode \(modeText)), who can replace its contents"
        case .writable:
            return "\(name) is writable by others (\(AccountName.user(owner)):\(AccountName.group(group)), mode "
                + "\(modeText)), who can "
                + (isSticky ? "create a folder in it first" : "replace its contents")
        }
    }

    /// What can be done about it, `trust` aside. `otherwise`: where the folder cannot be mended.
    package func remedy(for user: String, orElse otherwise: String = "use another folder") -> String {
        switch reason {
        case .owner where kind == .symbolicLink: "use the folder's real path, or give the link to root (chown -h)"
        case .owner: "give it to root\(user == "root" ? "" : " or \(user)"), or \(otherwise)"
        case .writable: "restrict it (chmod go-w '\(path.text)'), or \(otherwise)"
        }
    }

    private var isSticky: Bool { mode & S_ISVTX != 0 }

    private var modeText: String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

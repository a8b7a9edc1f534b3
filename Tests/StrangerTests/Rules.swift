import Glibc

/// How the rules that guard against strangers are written in a pipeline file, each line with its end.
enum Rule {
    /// The drop becomes ours, which is the default.
    static let take = ""
    /// It stays its sender's.
    static let keep = "ownership: keep\n"
    /// What outputs get.
    static func mode(_ mode: String) -> String { "mode: \"\(mode)\"\n" }
    /// A folder that is trusted, though others may write to it.
    static func trust(_ path: String) -> String { "trust: [\"\(path)\"]\n" }
    /// Keys of `ready`.
    static func most(size: String? = nil, entries: Int? = nil, depth: Int? = nil) -> String {
        [size.map { "max_size: \($0)" }, entries.map { "max_entries: \($0)" }, depth.map { "max_depth: \($0)" }]
            .compactMap { $0 }.map { ", \($0)" }.joined()
    }
    /// An option of `run`.
    static let confined = "confine: true"
    /// An option of `http`.
    static let insecure = "insecure: true"
}

/// Whether the long forms run: `make torture`.
let isLong = getenv("DROPMILL_TORTURE") != nil

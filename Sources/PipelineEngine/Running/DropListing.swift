package import Files
import FolderWatch
import Readiness

/// One page of the drops in an inbox, with how many there are.
package struct DropListing: Sendable {
    package struct Drop: Sendable, Equatable {
        /// From the inbox on.
        package let path: DropPath
        /// Its bytes as they were seen last; nil where they were not.
        package var size: Int64?
        /// For how long it is known; nil where that is not kept.
        package var known: Duration?
        /// What it waits for, or why it is left alone: a word that stays the same, and a sentence.
        package let code: String
        package let text: String
        /// Whether it could be claimed, if nothing kept all of them.
        package var isComplete = false
        /// Whether it is in the work folder already.
        package var isClaimed = false
    }

    /// Whether drops are folders here.
    package internal(set) var isOfFolders = false
    /// How many wait, and for how long the one is known that is known for longest.
    package internal(set) var waiting = 0
    package internal(set) var oldest: Duration?
    /// Those of them that are complete: how many, their bytes, and the one that is known for longest.
    package internal(set) var complete = 0
    package internal(set) var completeBytes: Int64 = 0
    package internal(set) var oldestComplete: Drop?
    /// How many wait for what, by code; of so many of them.
    package internal(set) var reasons: [String: Int] = [:]
    package internal(set) var counted = 0
    package internal(set) var drops: [Drop] = []
    /// The place of the last one, where there are more behind it.
    package internal(set) var more: DropPlace?
    /// What is left alone, by path, and the last one's where there are more.
    package internal(set) var left: [Drop] = []
    package internal(set) var leftMore: DropPath?
    /// How many are left alone, as far as that is kept.
    package internal(set) var leftCount = 0
}

/// What makes a list whole that was cut off while lines were added to it, or that lacks some. Nothing is ever taken out
/// of a list: others may be adding to it, and have it open. Pure.
struct ListMending: Equatable {
    /// What turns damage into a comment.
    var patches: [ListPatch] = []
    /// What is put at the end.
    var added: [UInt8] = []
}

/// What nodes tell each other at once, so that they need not wait for their next look at the journal. All that it is
/// about is on record there: where it is not heard nothing is amiss, and where it is not true nothing is found.
package enum NodeHint: String, Sendable {
    /// A node registered, left, or was marked dead.
    case nodes
    /// People held a pipeline, or lifted that.
    case holds
    /// Something is asked of a node.
    case requests
}

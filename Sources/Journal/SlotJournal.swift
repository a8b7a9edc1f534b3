/// Where nodes that share a journal agree on who runs the stages of which all together run so many at once.
package protocol SlotJournal: Sendable {
    /// Whether this node's lease holds, by a clock of its own: what it has is its own as long as it does.
    var mayAct: Bool { get }

    /// Says which tickets this node has, of all up to the number `last`: slots of others are given back, and those that
    /// wait take what is free, in the order in which nodes have asked. Returns how they stand, nothing where the node
    /// is dead. May be asked again, and an answer may be lost.
    func takeSlots(_ tickets: [SlotTicket], upTo last: Int64) throws(JournalError) -> [SlotStanding]
}

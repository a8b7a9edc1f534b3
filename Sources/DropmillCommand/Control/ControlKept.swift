/// Something that is over when the connection is that it is kept with.
protocol ControlKept: AnyObject, Sendable {
    func connectionClosed()
}

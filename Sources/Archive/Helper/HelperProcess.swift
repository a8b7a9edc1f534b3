import Glibc
import Helpers
import SystemPackage

/// One helper, started and waiting for its one archive.
struct HelperProcess {
    private let helper: Helper

    init(_ helper: Helper) { self.helper = helper }

    /// Gives the helper its archive; false where it is gone already.
    func send(_ request: UnpackRequest, archive: Int32, folder: Int32) throws(HelperFailure) -> Bool {
        let packet = request.packet
        guard packet.count <= UnpackRequest.mostBytes else { throw .unavailable(.invalidArgument) }
        do throws(Errno) { return try helper.send(packet, [archive, folder]) } catch { throw .unavailable(error) }
    }

    /// The next message, waiting so many milliseconds at most: nil if none came. `.some(nil)`: the helper has ended.
    func receive(within milliseconds: Int32) throws(HelperFailure) -> HelperMessage?? {
        let received: Helper.Received
        do throws(Errno) {
            received = try helper.receive(atMost: HelperMessage.mostBytes, within: milliseconds)
        } catch {
            throw .unavailable(error)
        }
        switch received {
        case .nothing: return nil
        case .end: return .some(nil)
        case .nonsense: throw .confused
        case .packet(let bytes):
            guard let message = HelperMessage(packet: bytes) else { throw .confused }
            return message
        }
    }

    /// How it ended, now that it has closed its end of the conversation: by itself, or if it does not, by us.
    func ending() -> HelperFailure {
        let ending = helper.ending()
        if ending.signal == SIGXCPU { return .overCPU }
        return .crashed(signal: ending.signal, status: ending.status, log: ending.log)
    }
}

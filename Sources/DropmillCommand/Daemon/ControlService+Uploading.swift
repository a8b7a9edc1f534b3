import Control

extension ControlService {
    /// How files come in from other processes.
    static func uploading(_ desk: UploadDesk) -> [ControlHandler] {
        [
            ControlHandler(
                ReceiveVerb.self,
                tied: { @Sendable arguments, tie, end, reply in desk.begin(arguments, on: tie, end: end, reply: reply) }
            ),
            ControlHandler(
                ReceivePartVerb.self,
                tied: { @Sendable arguments, tie, _, reply in desk.part(arguments, on: tie, reply: reply) }),
            ControlHandler(
                ReceivingVerb.self,
                tied: { @Sendable arguments, tie, _, reply in
                    reply(
                        Result { () throws(ControlProblem) in
                            try desk.note(arguments.size, on: tie)
                            return Nothing()
                        })
                }),
            ControlHandler(
                ReceivedVerb.self, tied: { @Sendable _, tie, _, reply in desk.finish(on: tie, reply: reply) }),
        ]
    }
}

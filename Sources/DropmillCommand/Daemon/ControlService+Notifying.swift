import Control

extension ControlService {
    static func notify(_ service: NotifyService) -> ControlHandler {
        ControlHandler(NotifyVerb.self) { @Sendable arguments, _, reply in service.test(arguments.entry, reply) }
    }
}

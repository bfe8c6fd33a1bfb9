import * as api from '@svc/api/agent/delegations'
import type { Endpoint, EnvelopeAuth } from '@svc/api/endpoint'
import { type Operation, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { Callers } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import type { Delegations } from './delegations.ts'

export function delegationRoutes(service: Service, delegations: Delegations, callers: Callers): void {
  // The body names a receipt, and only its payer may sign, so the operation checks the signature itself. The address is
  // counted before that body is parsed.
  serveKnown(
    service,
    api.delegate,
    (wire) => callers.limitAnonymous(wire),
    ({ body, wire }) => delegations.delegate(body, wire),
  )
  serveIdentity(api.listDelegations, ({ caller }) => delegations.list(caller))
  serveIdentity(api.readDelegation, ({ caller, params, query }) =>
    delegations.read(caller, params.delegation_id, query.after ?? 0),
  )
  serveIdentity(api.endDelegation, ({ caller, params }) => delegations.end(caller, params.delegation_id))

  /** For the identity in the header, which must have signed the request. */
  function serveIdentity<E extends Endpoint & { auth: EnvelopeAuth }>(
    endpoint: E,
    operation: Operation<E, string>,
  ): void {
    serveKnown(
      service,
      endpoint,
      async (wire) => {
        const identity = identityOf(wire)
        await callers.requireSignedBy(wire, identity, endpoint.auth.ops)
        return identity
      },
      operation,
    )
  }
}

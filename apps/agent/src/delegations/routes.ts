import * as api from '@svc/api/agent/delegations'
import type { Endpoint, EnvelopeAuth } from '@svc/api/endpoint'
import { type Operation, serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { requireSignedBy } from '../callers/callers.ts'
import { identityOf } from '../callers/identity.ts'
import type { Context } from '../context.ts'
import { delegateLocker } from './delegate.ts'
import { endDelegation } from './end-delegation.ts'
import { listDelegations } from './list-delegations.ts'
import { readDelegation } from './manage-delegations.ts'

export function delegationRoutes(service: Service, context: Context): void {
  // Whose signature it must be is known once the receipt that the body names is read.
  serveKnown(
    service,
    api.delegate,
    () => null,
    ({ body, wire }) => delegateLocker(context, body, wire),
  )
  serveIdentity(api.listDelegations, ({ caller }) => listDelegations(context, caller))
  serveIdentity(api.readDelegation, ({ caller, params, query }) =>
    readDelegation(context, caller, params.delegation_id, query.after ?? 0),
  )
  serveIdentity(api.endDelegation, ({ caller, params }) => endDelegation(context, caller, params.delegation_id))

  /** For whoever the header names, and who has signed. */
  function serveIdentity<E extends Endpoint & { auth: EnvelopeAuth }>(
    endpoint: E,
    operation: Operation<E, string>,
  ): void {
    serveKnown(
      service,
      endpoint,
      async (wire) => {
        const identity = identityOf(wire)
        await requireSignedBy(context, wire, identity, endpoint.auth.ops)
        return identity
      },
      operation,
    )
  }
}

// Permissions of internal callers: all of them may read; those in ADMINS may also make changes (T-26).

import type { AdminIdentity } from '@svc/api/operations'
import { ServiceError } from '@svc/service/service-error'
import type { InternalCaller } from '../../auth/internal-callers.ts'
import type { ActorConfig } from '../../auth/settings.ts'
import type { Context } from '../../context.ts'
import { type AuditAction, recordRefusal } from './audit.ts'

/** The caller under the name that the audit trail uses. */
export interface Actor {
  identity: string
}

export function describeCaller(caller: InternalCaller, actors: ActorConfig): AdminIdentity {
  return { identity: identityOf(caller), kind: caller.kind, may_act: mayAct(caller, actors) }
}

function identityOf(caller: InternalCaller): string {
  return caller.kind === 'oidc' ? `oidc:${caller.service}` : caller.kind
}

/** Each name is compared with its own list only: a subject can be the text of another caller's address. */
function mayAct(caller: InternalCaller, { emails, subjects, secret, anybody }: ActorConfig): boolean {
  if (anybody) return true
  if (caller.kind !== 'oidc') return caller.kind === 'secret' && secret
  return subjects.includes(caller.subject) || (caller.email !== null && emails.includes(caller.email))
}

const REFUSALS_PER_MINUTE = 30

/** Returns the caller if they may make changes. A refused attempt is recorded in the audit trail and logged. */
export async function requireActor(
  context: Context,
  caller: InternalCaller,
  attempt: { action: AuditAction; target: string },
): Promise<Actor> {
  const { identity, may_act } = describeCaller(caller, context.config.internal.actors)
  if (may_act) return { identity }
  context.log.warn({ actor: identity, ...attempt }, 'an identity that may only read tried to make a change')
  await context.rateLimiter.take({ key: `refused actor ${identity}`, perMinute: REFUSALS_PER_MINUTE })
  await recordRefusal(context, { ...attempt, actor: identity })
  throw new ServiceError('ACTING_IDENTITY_REQUIRED', 'this identity may only read', {
    hint: 'the setting ADMINS of the gateway names the identities that may make changes; this attempt is in the audit trail',
    details: { identity },
  })
}

// The next statement of a locker that is published without a request, as far as settings and state determine it.

import type { AnchorAbsence } from '@svc/api/attestations'
import type { LockerUsage, NextAnchor } from '@svc/api/usage'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { AttestationTable, Locker } from '../../db/schema.ts'
import { findAttestation } from '../../evidence/store.ts'
import { nextLogAnchor } from '../../publication/log-anchors/due-checkpoint.ts'
import type { PrimaryChain } from '../../publication/primary-chain.ts'

interface Parts extends Pick<Context, 'config' | 'database'> {
  primaryChain: Pick<PrimaryChain, 'signer'> | null
}

export async function nextAnchor(
  context: Parts,
  locker: Locker,
): Promise<Pick<LockerUsage, 'next_anchor' | 'has_unattested_changes'>> {
  const { config, database, primaryChain } = context
  const known = await findAttestation(database.db, locker.receipt_id)
  const isChanged = locker.manifest_version > (known?.manifest_version ?? 0)
  const follows = () =>
    locker.anchoring === 'log' ? byLog(context, known) : expectedAnchor(config, locker, known, isChanged)
  return {
    next_anchor: primaryChain && ((known && pendingAnchor(config, locker, known)) ?? (await follows())),
    has_unattested_changes: isChanged,
  }
}

async function byLog(context: Parts, known: AttestationTable | null): Promise<NextAnchor | null> {
  const { receipt_id, sequence } = known ?? { sequence: null }
  return receipt_id === undefined || sequence === null ? null : nextLogAnchor(context, { receipt_id, sequence })
}

/** A statement that exists but is not published yet. */
function pendingAnchor(
  { anchors }: Config,
  { anchoring }: Locker,
  { status, deferral, anchor_error, push_at }: AttestationTable,
): NextAnchor | null {
  if (deferral !== null) {
    const { reason, publish_after } = JSON.parse(deferral) as AnchorAbsence
    if (reason !== 'superseded') return { reason, at: publish_after ?? null }
  }
  const isAutomatic = anchors.isAutomatic && anchoring === 'each'
  const isScheduled = push_at !== null || (isAutomatic && anchor_error === null)
  return status === 'pushing' || (status === 'computed' && isScheduled) ? { reason: 'publishing', at: null } : null
}

/** A statement that does not exist yet. */
function expectedAnchor(
  { anchors, attestations }: Config,
  locker: Locker,
  known: AttestationTable | null,
  isChanged: boolean,
): NextAnchor | null {
  const { cron } = attestations
  const attestedAt = cron.isEnabled && cron.publish && isSelected(cron, locker) ? (known?.attested_at ?? null) : null
  const isSoon = attestations.isAutomatic && anchors.isAutomatic
  if (isChanged && (isSoon || (attestedAt !== null && cron.filter !== 'unchanged')))
    return { reason: 'changes', at: null }
  if (attestedAt === null || (isChanged && cron.filter === 'unchanged')) return null
  return { reason: 'schedule', at: isoSeconds(attestedAt + cron.minAgeHours * 3600) }
}

function isSelected({ filter, tiers }: Config['attestations']['cron'], { tags }: Locker): boolean {
  const own: string[] = JSON.parse(tags)
  if (filter === 'opted_in') return own.includes('cron_attest')
  return filter !== 'tier' || tiers.some((tier) => own.includes(`tier:${tier}`))
}

// Making and publishing statements, their progress, the list of statements, and evidence to download.

import { useComputed, useSignal } from '@preact/signals'
import type { PushResult } from '@svc/api/attestations'
import { useEffect, useMemo } from 'preact/hooks'
import { common } from '#texts/common'
import { texts } from '#texts/locker'
import { urlOf } from '../../address.ts'
import { index } from '../../gateway.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { Evidence } from './evidence.tsx'
import { ProofSteps, StatementTable } from './proof-steps.tsx'
import type { Identity, LockerSession } from './session.ts'
import { createStatements } from './statements.ts'

const t = texts.proof
/** From this number of files, the gateway attests in the background and the page polls. */
const MANY_FILES = 20_000
const ASK_AGAIN_MS = 3_000

export function Proof({ session }: { session: LockerSession }) {
  const list = useMemo(() => createStatements(session), [session])
  const reading = useAction()
  const making = useAction()
  const doing = useSignal<'attest' | 'push' | null>(null)
  const push = useSignal<PushResult | null>(null)
  const isUnchanged = useSignal(false)
  const newest = useComputed(() => list.now.value?.[0])
  useEffect(() => {
    void reading.run(list.load)
    // Files may have changed after the locker was opened.
    if (session.isSilent) void session.refresh().catch(() => {})
  }, [list])
  useEffect(() => list.follow(), [list, newest.value?.sequence, newest.value?.anchor?.tx, making.isBusy])

  const act = (what: 'attest' | 'push', work: (owner: Identity) => Promise<PushResult | null>) =>
    making.run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      doing.value = what
      isUnchanged.value = false
      push.value = null
      try {
        push.value = await work(owner)
        await list.load()
      } finally {
        doing.value = null
      }
    })
  const attest = () =>
    act('attest', async (owner) => {
      if (session.facts.value.file_count > MANY_FILES && session.isSilent) return attestQueued(owner, session)
      const { attestation, attestation_status, unchanged, push_result } = await owner.client.attest(session.locker)
      isUnchanged.value = unchanged
      const { evidence_seq = null, attested_at, proof_id = null } = attestation
      session.facts.value = {
        ...session.facts.value,
        attestation: { status: attestation_status, evidence_seq, attested_at, proof_id },
      }
      return push_result
    })
  const publish = () => act('push', (owner) => owner.client.push(session.locker))

  if (reading.problem) return <ProblemNote problem={reading.problem} retry={() => void reading.run(list.load)} />
  const statements = list.now.value
  if (!statements) return <Loading label={common.states.loading} />
  const { value: known } = index.now
  const hasAgent = known.state === 'ready' && known.value.agent_url !== undefined
  const isWaiting = newest.value && !newest.value.anchor && !newest.value.anchor_absence
  return (
    <div class="stack">
      <Card title={t.title}>
        <div class="stack">
          <p class="soft">
            {t.text} {hasAgent && <a href={urlOf('/agent')}>{t.agent}</a>}
          </p>
          {newest.value ? (
            <p role="status">{isUnchanged.value ? t.unchanged : hasChanged(session) ? t.changed : t.current}</p>
          ) : (
            <p>
              <b>{t.never}.</b> {t.neverText}
            </p>
          )}
          <div class="row">
            <Button kind="primary" busy={doing.value === 'attest'} onClick={() => void attest()}>
              {doing.value === 'attest' ? t.attesting : t.attest}
            </Button>
            {isWaiting && (
              <Button busy={doing.value === 'push'} onClick={() => void publish()}>
                {doing.value === 'push' ? t.pushing : t.push}
              </Button>
            )}
            <span class="field-hint">{t.ownerSigns}</span>
          </div>
          {making.problem && <ProblemNote problem={making.problem} />}
          <ProofSteps statement={newest.value} push={push.value} doing={doing.value} />
        </div>
      </Card>
      {statements.length > 0 && (
        <Card title={t.statements} aside={<a href={urlOf(`/verify/${session.locker.receipt_id}`)}>{t.verify}</a>}>
          <div class="stack">
            <StatementTable statements={statements} />
            {(statements.at(-1)?.sequence ?? 1) > 1 && (
              <div class="row">
                <Button onClick={() => void reading.run(list.loadEarlier)}>{t.earlier}</Button>
              </div>
            )}
            <p class="field-hint">{t.verifyText}</p>
          </div>
        </Card>
      )}
      {statements.length > 0 && <Evidence session={session} />}
    </div>
  )
}

function hasChanged({ facts }: LockerSession): boolean {
  const { attestation, last_manifest_change_at } = facts.value
  return (last_manifest_change_at ?? '') > (attestation?.attested_at ?? '')
}

/** The owner signs once; the key of the session polls. */
async function attestQueued(owner: Identity, session: LockerSession): Promise<null> {
  const before = session.facts.value.attestation?.evidence_seq ?? 0
  const { attest } = await import('@svc/api/attestations')
  await owner.client.call(attest, { query: { receipt_id: session.locker.receipt_id } })
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
    await session.refresh()
    const { attestation } = session.facts.value
    if (attestation?.status === 'pending') continue
    if ((attestation?.evidence_seq ?? 0) > before || !hasChanged(session)) return null
  }
}

// The list of delegations, and ending one.

import { type Signal, useSignal } from '@preact/signals'
import type { DelegationStatus, DelegationSummary, TaskName } from '@svc/api/agent/delegations'
import { printable } from '@svc/verifier/untrusted'
import { texts } from '#texts/agent'
import { urlOf } from '../../address.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Loading } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import { DelegationDetail } from './detail.tsx'
import { explainAgent } from './problems.ts'
import type { AgentSession } from './service.ts'

const t = texts.delegations

const TONES: Record<DelegationStatus, Tone> = {
  pending: 'warn',
  active: 'good',
  paused: 'warn',
  revoked: 'bad',
  ended: 'neutral',
}

interface DelegationsProps {
  session: AgentSession
  delegations: readonly DelegationSummary[]
  /** Keys that were registered from this page. The service detects them a moment later. */
  registered: Signal<ReadonlySet<string>>
  onChanged: () => void
}

export function Delegations({ session, delegations, registered, onChanged }: DelegationsProps) {
  return (
    <Card title={t.title}>
      {delegations.length === 0 ? (
        <p class="soft">{t.none}</p>
      ) : (
        <ul class="delegations" aria-label={t.title}>
          {delegations.map((delegation) => (
            <DelegationRow
              key={delegation.delegation_id}
              session={session}
              delegation={delegation}
              registered={registered}
              onChanged={onChanged}
            />
          ))}
        </ul>
      )}
    </Card>
  )
}

interface RowProps extends Pick<DelegationsProps, 'session' | 'registered' | 'onChanged'> {
  delegation: DelegationSummary
}

function DelegationRow({ session, delegation, registered, onChanged }: RowProps) {
  const { status, created_at, findings, alerts, next_runs, agent_pubkey } = delegation
  const lockerId = printable(delegation.locker_id, 100)
  const isStarting = status === 'pending' && registered.value.has(agent_pubkey)
  const isUnregistered = status === 'pending' && !isStarting
  const isOpen = useSignal(false)
  const isEnding = useSignal(false)
  const { isBusy, problem, run } = useAction(explainAgent)
  const register = () =>
    run(async () => {
      // The SDK has checked that the locker and the key in the answer belong together.
      const answer = await session.agent.delegate(delegation.receipt_id, delegation.tasks)
      await session.gateway.addOperator(answer, answer.agent_pubkey)
      registered.value = new Set([...registered.value, answer.agent_pubkey])
      toast(t.registered)
      onChanged()
    })
  const end = () =>
    run(async () => {
      // The gateway first: this revokes the key even if the service fails.
      const { isGatewayError } = await import('@svc/sdk')
      await session.gateway.removeOperator(delegation, agent_pubkey).catch((error: unknown) => {
        if (!isGatewayError(error, 'OPERATOR_NOT_FOUND')) throw error
      })
      const isConfirmed = await session.agent.endDelegation(delegation.delegation_id).then(
        () => true,
        () => false,
      )
      toast(isConfirmed ? t.ended : t.endedHalf)
      onChanged()
    })
  return (
    <li class="delegation">
      <div class="delegation-head">
        <a href={urlOf(`/locker/${encodeURIComponent(delegation.locker_id)}`)}>
          <code>{lockerId}</code>
        </a>
        {isStarting ? (
          <Status tone="info">{t.starting}</Status>
        ) : (
          <Status tone={TONES[status] ?? 'neutral'}>{t.statuses[status] ?? printable(status, 30)}</Status>
        )}
        {alerts > 0 && <Status tone="bad">{texts.detail.severities.alert}</Status>}
      </div>
      <p class="soft">
        {t.since(texts.time(created_at))} · {t.found(findings, alerts)}
        {Object.entries(next_runs).map(([task, at]) => ` · ${t.next(task as TaskName, texts.time(at))}`)}
      </p>
      {isStarting && <p class="soft">{t.startingText}</p>}
      {isUnregistered && <p class="soft">{t.registerText}</p>}
      {status === 'revoked' && <p class="soft">{t.revokedText}</p>}
      {isBusy && <Loading label={texts.waiting} />}
      {problem && <ProblemNote problem={problem} />}
      <div class="row">
        <Button
          onClick={() => {
            isOpen.value = !isOpen.value
          }}
          label={`${isOpen.value ? t.close : t.open} ${lockerId}`}
        >
          {isOpen.value ? t.close : t.open}
        </Button>
        {isUnregistered && (
          <Button kind="primary" busy={isBusy} onClick={() => void register()} label={`${t.register} ${lockerId}`}>
            {t.register}
          </Button>
        )}
        {status !== 'ended' && (
          <Button
            kind="quiet"
            busy={isBusy}
            onClick={() => {
              isEnding.value = true
            }}
            label={`${t.end} ${lockerId}`}
          >
            {t.end}
          </Button>
        )}
      </div>
      {isOpen.value && <DelegationDetail session={session} delegationId={delegation.delegation_id} />}
      {isEnding.value && (
        <Confirm
          title={t.endTitle}
          text={t.endText}
          detail={lockerId}
          action={t.end}
          onAnswer={(isSure) => {
            isEnding.value = false
            if (isSure) void end()
          }}
        />
      )}
    </li>
  )
}

import { useSignal } from '@preact/signals'
import type { DelegationList } from '@svc/api/agent/delegations'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { texts as t } from '#texts/agent'
import { common } from '#texts/common'
import { texts as frame } from '#texts/frame'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Icon } from '../../ui/icons.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Empty, ErrorState, Loading } from '../../ui/states.tsx'
import { WalletChooser } from '../../wallets/choose-wallet.tsx'
import { DelegateCard } from './delegate-form.tsx'
import { Delegations } from './delegations.tsx'
import { explainAgent } from './problems.ts'
import { type AgentService, type AgentSession, findService, openSession, service } from './service.ts'
import { SubscriptionCard } from './subscription.tsx'
import './agent.css'

export default function AgentPage() {
  useEffect(() => {
    document.title = `${t.title} – ${frame.name}`
    void findService()
  }, [])
  return (
    <div class="wide agent">
      <header>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
      </header>
      <Found />
    </div>
  )
}

function Found() {
  const { value } = service
  const retry = () => void findService()
  switch (value.at) {
    case 'loading':
      return <Loading label={common.states.loading} />
    case 'none':
      return <Empty {...t.none} />
    case 'down':
      return <ErrorState {...t.down} retry={retry} />
    case 'no-index':
      return <ErrorState {...t.index} retry={retry} />
    case 'foreign':
      return (
        <ErrorState title={t.foreign.title} text={t.foreign.text(printable(value.gatewayUrl, 200))} retry={retry} />
      )
    case 'ready':
      return <ServiceView service={value.service} />
  }
}

function ServiceView({ service }: { service: AgentService }) {
  const session = useSignal<AgentSession | null>(null)
  const { problem, run } = useAction(explainAgent)
  return (
    <>
      <About service={service} />
      {session.value ? (
        <SessionView
          key={session.value.wallet.address}
          session={session.value}
          onDisconnect={() => {
            session.value = null
          }}
        />
      ) : (
        <Card title={t.connect.title}>
          <div class="stack">
            <p class="soft">{t.connect.text}</p>
            <WalletChooser
              onConnected={(wallet) =>
                void run(async () => {
                  session.value = await openSession(wallet, service)
                })
              }
            />
            {problem && <ProblemNote problem={problem} />}
          </div>
        </Card>
      )}
    </>
  )
}

function About({ service }: { service: AgentService }) {
  const { price_usd, subscription_days } = service.discovery.subscription
  return (
    <div class="agent-about">
      <Card title={t.what.title}>
        <ul class="agent-points">
          {[t.what.watch, t.what.mirror, t.what.tell].map(([name, text]) => (
            <li key={name}>
              <Icon name="check" />
              <span>
                <b>{name}.</b> {text}
              </span>
            </li>
          ))}
        </ul>
        <p class="agent-price">{t.what.price(common.dollars(price_usd), subscription_days)}</p>
      </Card>
      <Card title={t.what.rights}>
        <ul class="agent-points">
          <li>
            <Icon name="check" />
            <span>{t.what.may}</span>
          </li>
          <li>
            <Icon name="close" />
            <span>{t.what.mayNot}</span>
          </li>
        </ul>
        <p class="soft">{t.what.take}</p>
      </Card>
    </div>
  )
}

function SessionView({ session, onDisconnect }: { session: AgentSession; onDisconnect: () => void }) {
  const list = useSignal<DelegationList | null>(null)
  const message = useSignal('')
  const registered = useSignal<ReadonlySet<string>>(new Set())
  const { isBusy, problem, run } = useAction(explainAgent)
  const load = () =>
    run(async () => {
      list.value = await session.agent.delegations()
    })
  useEffect(() => void load(), [])
  const current = list.value
  const delegated = new Set(
    current?.delegations
      .filter(({ status }) => status !== 'ended' && status !== 'revoked')
      .map((one) => one.receipt_id),
  )
  return (
    <>
      <p class="signed-in">
        <span>
          {t.connected} <b>{session.wallet.name}</b> <code>{session.wallet.address}</code>
        </span>
        <Button kind="quiet" busy={isBusy} onClick={() => void load()}>
          {t.refresh}
        </Button>
        <Button kind="quiet" onClick={onDisconnect}>
          {t.disconnect}
        </Button>
      </p>
      {problem && <ProblemNote problem={problem} retry={() => void load()} />}
      {isBusy && !current && <Loading label={t.waiting} />}
      {current && (
        <>
          <SubscriptionCard
            session={session}
            subscription={current.subscription}
            onPaid={(subscription) => {
              if (subscription && current.delegations.length === 0) list.value = { ...current, subscription }
              else void load()
            }}
          />
          {current.subscription?.status === 'active' && (
            <DelegateCard
              session={session}
              delegated={delegated}
              onDelegated={(text, key) => {
                message.value = text
                if (key !== null) registered.value = new Set([...registered.value, key])
                void load()
              }}
            />
          )}
          <div role="status">{message.value && <p class="note note-good">{message.value}</p>}</div>
          <Delegations
            session={session}
            delegations={current.delegations}
            registered={registered}
            onChanged={() => {
              message.value = ''
              void load()
            }}
          />
        </>
      )}
    </>
  )
}

// The people who can use the files: operators, and anyone with the public link.

import { useSignal } from '@preact/signals'
import { operatorName } from '@svc/sdk/locker-names'
import { printable } from '@svc/verifier/untrusted'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Field } from '../../ui/field.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Status } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import { browserKeyOf, recordLocker } from './browser-key.ts'
import { NameOperator } from './name-operator.tsx'
import { PublicLinkCard } from './public-link.tsx'
import type { LockerSession } from './session.ts'

const t = texts.people

interface PeopleProps {
  session: LockerSession
  /** Called after the key that this page signs with was removed. */
  onLock: () => void
}

export function People({ session, onLock }: PeopleProps) {
  return (
    <div class="stack">
      <Operators session={session} onLock={onLock} />
      <PublicLinkCard session={session} />
    </div>
  )
}

function Operators({ session, onLock }: PeopleProps) {
  const { owner, operators, tags } = session.facts.value
  const removing = useSignal<string | null>(null)
  const naming = useSignal<string | null>(null)
  const { isBusy, problem, run } = useAction()
  const setOperators = (now: string[]) => {
    session.facts.value = { ...session.facts.value, operators: now }
  }
  const remove = (key: string) =>
    run(async () => {
      const signing = await session.asOwner()
      if (!signing) return
      await signing.client.removeOperator(session.locker, key)
      setOperators(operators.filter((operator) => operator !== key))
      toast(t.removed)
      const mine = await browserKeyOf(session.locker.locker_id)
      if (mine?.address === key) await recordLocker(mine, session.locker.locker_id, false)
      if (session.address === key) onLock()
    })
  return (
    <Card title={t.title} aside={<span class="field-hint">{t.count(operators.length)}</span>}>
      <div class="stack">
        <p class="soft">{t.text}</p>
        <ul class="people" aria-label={t.caption}>
          <Person address={owner} role={t.owner} isYou={session.address === owner} />
          {operators.map((key) => (
            <Person
              key={key}
              address={key}
              name={operatorName(tags, key)}
              role={t.operator}
              isYou={session.address === key}
              isBrowser={session.kind === 'browser' && session.address === key}
              onName={() => {
                naming.value = key
              }}
              onRemove={() => {
                removing.value = key
              }}
            />
          ))}
        </ul>
        {operators.length === 0 && <p class="soft">{t.none}</p>}
        {problem && <ProblemNote problem={problem} />}
        <AddOperator session={session} setOperators={setOperators} isBusy={isBusy} />
      </div>
      {naming.value !== null && (
        <NameOperator session={session} operator={naming.value} onClose={() => (naming.value = null)} />
      )}
      {removing.value !== null && (
        <Confirm
          title={t.removeTitle}
          text={session.address === removing.value ? `${t.removeText} ${t.removeSelf}` : t.removeText}
          detail={removing.value}
          action={t.remove}
          onAnswer={(isSure) => {
            const key = removing.value
            removing.value = null
            if (isSure && key !== null) void remove(key)
          }}
        />
      )}
    </Card>
  )
}

interface PersonProps {
  address: string
  /** What the owner calls the operator. */
  name?: string | null
  role: string
  isYou: boolean
  isBrowser?: boolean
  onName?: () => void
  onRemove?: () => void
}

function Person({ address, name, role, isYou, isBrowser, onName, onRemove }: PersonProps) {
  const shown = printable(address, 100)
  return (
    <li>
      <span>
        {name && <b>{printable(name, 100)} </b>}
        <Copyable text={shown} what={t.key} />
      </span>
      <span class="row">
        <Status tone={onRemove ? 'neutral' : 'info'}>{role}</Status>
        {isBrowser ? <Status tone="good">{t.thisBrowser}</Status> : isYou && <Status tone="good">{t.you}</Status>}
        {onName && (
          <Button kind="quiet" onClick={onName} label={`${t.name} ${shown}`}>
            {t.name}
          </Button>
        )}
        {onRemove && (
          <Button kind="quiet" onClick={onRemove} label={`${t.remove} ${shown}`}>
            {t.remove}
          </Button>
        )}
      </span>
    </li>
  )
}

interface AddOperatorProps {
  session: LockerSession
  setOperators: (operators: string[]) => void
  isBusy: boolean
}

function AddOperator({ session, setOperators, isBusy }: AddOperatorProps) {
  const text = useSignal('')
  const objection = useSignal<string | null>(null)
  const adding = useAction()
  const add = (event: Event) => {
    event.preventDefault()
    const key = text.value.trim()
    void adding.run(async () => {
      const { ed25519PublicKeyFromBase58 } = await import('@svc/protocol/keys')
      objection.value = null
      if (key === session.facts.value.owner) objection.value = t.isOwner
      else if (!ed25519PublicKeyFromBase58(key)) objection.value = t.notKey
      if (objection.value !== null) return
      const signing = await session.asOwner()
      if (!signing) return
      setOperators(await signing.client.addOperator(session.locker, key))
      text.value = ''
      toast(t.added)
    })
  }
  return (
    <form class="by-id" aria-label={t.add} onSubmit={add}>
      <Field label={t.address} hint={t.addressHint} error={objection.value}>
        {(control) => (
          <input
            {...control}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value
              objection.value = null
            }}
          />
        )}
      </Field>
      <Button type="submit" busy={adding.isBusy || isBusy}>
        {t.addAction}
      </Button>
      {adding.problem && <ProblemNote problem={adding.problem} />}
    </form>
  )
}

// The key of this browser, and facts of the locker.

import { useSignal } from '@preact/signals'
import { nameObjection } from '@svc/sdk/locker-names'
import { printable } from '@svc/verifier/untrusted'
import { useEffect } from 'preact/hooks'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { nameOf } from '../../ui/locker-name.ts'
import { networkTitle, providerTitle } from '../../ui/names.ts'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Term } from '../../ui/term.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { toast } from '../../ui/toast.tsx'
import { type BrowserKey, browserKeyOf, forgetBrowserKeys, recordLocker } from './browser-key.ts'
import { RememberChoice } from './choose-mode.tsx'
import { ProgramKeys } from './program-keys.tsx'
import { type LockerSession, openWithBrowserKey } from './session.ts'

const t = texts.settings

interface SettingsProps {
  session: LockerSession
  /** Called with another session, or with null. */
  onSession: (session: LockerSession | null) => void
}

export function Settings({ session, onSession }: SettingsProps) {
  return (
    <div class="stack">
      <ThisBrowser session={session} onSession={onSession} />
      <ProgramKeys session={session} />
      <About session={session} />
    </div>
  )
}

function ThisBrowser({ session, onSession }: SettingsProps) {
  const { locker, facts } = session
  const key = useSignal<BrowserKey | null>(null)
  const isRemembered = useSignal(true)
  const isForgetting = useSignal(false)
  const { isBusy, problem, run } = useAction()
  useEffect(() => {
    void browserKeyOf(locker.locker_id).then((found) => {
      key.value = found
    })
  }, [session])
  const start = () =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const opened = await openWithBrowserKey(owner, locker.locker_id, isRemembered.value)
      toast(t.started)
      onSession(opened)
    })
  const end = ({ address }: BrowserKey) =>
    run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const { isGatewayError } = await import('@svc/sdk/errors')
      await owner.client.removeOperator(locker, address).catch((error: unknown) => {
        // Someone else has already removed it.
        if (!isGatewayError(error, 'OPERATOR_NOT_FOUND')) throw error
      })
      if (key.value) await recordLocker(key.value, locker.locker_id, false)
      toast(t.ended)
      if (session.kind === 'browser') return onSession(null)
      key.value = null
      facts.value = { ...facts.value, operators: facts.value.operators.filter((operator) => operator !== address) }
    })
  const forget = async () => {
    await forgetBrowserKeys()
    toast(t.forgotten)
    onSession(null)
  }
  const { value } = key
  return (
    <Card title={t.browser}>
      <div class="stack">
        {value ? (
          <>
            <p class="soft">
              {t.browserIn} {value.expiresAt === null ? t.browserMemory : t.browserUntil(texts.day(value.expiresAt))}
            </p>
            <Copyable text={value.address} what={t.browserKey} />
            <div class="row">
              <Button kind="primary" busy={isBusy} onClick={() => void end(value)}>
                {t.end}
              </Button>
              <span class="field-hint">{t.endText}</span>
            </div>
          </>
        ) : (
          <>
            <p class="soft">{t.browserOut}</p>
            <RememberChoice
              isRemembered={isRemembered.value}
              onChange={(isChecked) => (isRemembered.value = isChecked)}
            />
            <div class="row">
              <Button busy={isBusy} onClick={() => void start()}>
                {t.start}
              </Button>
              <span class="field-hint">{t.startText}</span>
            </div>
          </>
        )}
        {problem && <ProblemNote problem={problem} />}
        <div class="row">
          <Button onClick={() => (isForgetting.value = true)}>{t.forget}</Button>
        </div>
      </div>
      {isForgetting.value && (
        <Confirm
          title={t.forgetTitle}
          text={t.forgetText}
          action={t.forget}
          onAnswer={(isSure) => {
            isForgetting.value = false
            if (isSure) void forget()
          }}
        />
      )}
    </Card>
  )
}

function Rename({ session }: { session: LockerSession }) {
  const { locker, facts } = session
  const name = useSignal(nameOf(facts.value) ?? '')
  const objection = useSignal<string | null>(null)
  const { isBusy, problem, run } = useAction()
  const wanted = name.value.trim()
  const rename = (event: Event) => {
    event.preventDefault()
    if (wanted && nameObjection(wanted) !== null) {
      objection.value = texts.provision.notAllowed
      return
    }
    void run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const tags = await owner.client.renameLocker(locker, wanted || null)
      facts.value = { ...facts.value, tags }
      toast(t.renamed)
    })
  }
  return (
    <>
      <form class="by-id" aria-label={t.rename} onSubmit={rename}>
        <TextField label={t.name} hint={t.nameHint} text={name} problem={objection} />
        <Button type="submit" busy={isBusy} disabled={wanted === (nameOf(facts.value) ?? '')}>
          {t.rename}
        </Button>
      </form>
      {problem && <ProblemNote problem={problem} />}
    </>
  )
}

function About({ session }: { session: LockerSession }) {
  const { value } = session.facts
  const isShown = useSignal(false)
  const { tags, locker_id, receipt_id, owner, provider, network, created_at } = value
  const others = tags.filter((tag) => !tag.startsWith('name:')).map((tag) => printable(tag, 80))
  return (
    <Card title={t.about}>
      <div class="stack">
        <Rename session={session} />
        <dl class="about">
          <Term name={t.tags}>{others.join(', ') || t.none}</Term>
          <Term name={t.locker}>
            <Copyable text={locker_id} what={t.locker} />
          </Term>
          <Term name={t.receipt}>
            {isShown.value ? (
              <Copyable text={receipt_id} what={t.receipt} />
            ) : (
              <Button onClick={() => (isShown.value = true)}>{t.show}</Button>
            )}
            <span class="field-hint">{t.receiptText}</span>
          </Term>
          <Term name={t.owner}>
            <Copyable text={printable(owner, 100)} what={t.owner} />
          </Term>
          <Term name={t.provider}>{providerTitle(printable(provider, 60))}</Term>
          <Term name={t.network}>{networkTitle(printable(network, 60))}</Term>
          <Term name={t.created}>{texts.moment(created_at)}</Term>
        </dl>
        <p class="field-hint">{t.fixed}</p>
      </div>
    </Card>
  )
}

import { useSignal } from '@preact/signals'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { Status } from '../../ui/status.tsx'
import { toast } from '../../ui/toast.tsx'
import type { LockerSession } from './session.ts'

const t = texts.people.link

type Action = 'open' | 'close' | 'rotate'

/** The public link, through which anyone can read the files, and how to change it. */
function usePublicLink(session: LockerSession) {
  const { public_link, receipt_id } = session.facts.value
  const link = public_link ?? { status: 'open', id: receipt_id }
  const asking = useSignal<'close' | 'rotate' | null>(null)
  const { isBusy, problem, run } = useAction()
  const change = (action: Action) =>
    run(async () => {
      const signing = await session.asOwner()
      if (!signing) return
      const changed = await signing.client.changePublicLink(session.locker, action)
      session.facts.value = { ...session.facts.value, public_link: changed }
      toast(t.changed)
    })
  const question = asking.value !== null && (
    <Confirm
      title={asking.value === 'close' ? t.closeTitle : t.rotateTitle}
      text={asking.value === 'close' ? t.closeText : t.rotateText}
      action={asking.value === 'close' ? t.close : t.rotate}
      onAnswer={(isSure) => {
        const action = asking.value
        asking.value = null
        if (isSure && action !== null) void change(action)
      }}
    />
  )
  return { link, receiptId: receipt_id, isBusy, problem, change, asking, question }
}

/** Shows on every tab whether the files are public, and opens or closes the link. */
export function PublicLinkSwitch({ session }: { session: LockerSession }) {
  const { link, isBusy, problem, change, asking, question } = usePublicLink(session)
  const isOpen = link.status === 'open'
  const isTakenDown = session.facts.value.restriction?.state === 'taken_down'
  return (
    <div class="link-switch">
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={isOpen}
        aria-busy={isBusy}
        onClick={() => {
          if (isOpen) asking.value = 'close'
          else void change('open')
        }}
      >
        <span class="switch-track" aria-hidden="true" />
        {t.title}
      </button>
      <span class="soft">
        {isTakenDown ? t.isTakenDown : isOpen ? t.isPublic : t.isPrivate} <a href="#people">{t.more}</a>
      </span>
      {problem && <ProblemNote problem={problem} />}
      {question}
    </div>
  )
}

/** The state of the public link, and buttons to close, open or replace it. */
export function PublicLinkCard({ session }: { session: LockerSession }) {
  const { link, receiptId, isBusy, problem, change, asking, question } = usePublicLink(session)
  const isOpen = link.status === 'open'
  const openText = link.id === receiptId ? t.openText : t.replacedText
  return (
    <Card title={t.title} aside={<Status tone={isOpen ? 'info' : 'neutral'}>{isOpen ? t.open : t.closed}</Status>}>
      <div class="stack">
        <p class="soft">{isOpen ? openText : `${t.closedText} ${t.reopenText}`}</p>
        {isOpen && link.id !== null && <Copyable text={link.id} what={t.id} />}
        <div class="row">
          {isOpen ? (
            <Button busy={isBusy} onClick={() => (asking.value = 'close')}>
              {t.close}
            </Button>
          ) : (
            <Button busy={isBusy} onClick={() => void change('open')}>
              {t.reopen}
            </Button>
          )}
          <Button busy={isBusy} onClick={() => (asking.value = 'rotate')}>
            {t.rotate}
          </Button>
        </div>
        {problem && <ProblemNote problem={problem} />}
      </div>
      {question}
    </Card>
  )
}

import { useSignal } from '@preact/signals'
import { nameObjection, operatorName } from '@svc/sdk/locker-names'
import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { TextField } from '../../ui/text-field.tsx'
import { toast } from '../../ui/toast.tsx'
import type { LockerSession } from './session.ts'

const t = texts.people

interface NameOperatorProps {
  session: LockerSession
  operator: string
  onClose: () => void
}

/** Asks for the name of an operator. An empty one removes the name. */
export function NameOperator({ session, operator, onClose }: NameOperatorProps) {
  const { locker, facts } = session
  const name = useSignal(operatorName(facts.value.tags, operator) ?? '')
  const objection = useSignal<string | null>(null)
  const { isBusy, problem, run } = useAction()
  const save = (event: Event) => {
    event.preventDefault()
    const wanted = name.value.trim()
    if (wanted && nameObjection(wanted) !== null) {
      objection.value = texts.provision.notAllowed
      return
    }
    void run(async () => {
      const owner = await session.asOwner()
      if (!owner) return
      const tags = await owner.client.nameOperator(locker, operator, wanted || null)
      facts.value = { ...facts.value, tags }
      toast(texts.settings.renamed)
      onClose()
    })
  }
  return (
    <Dialog title={t.nameTitle} onClose={onClose}>
      <form class="stack" onSubmit={save}>
        <code>{operator}</code>
        <TextField label={texts.settings.name} hint={t.nameHint} text={name} problem={objection} />
        {problem && <ProblemNote problem={problem} />}
        <div class="row">
          <Button kind="primary" type="submit" busy={isBusy}>
            {t.name}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

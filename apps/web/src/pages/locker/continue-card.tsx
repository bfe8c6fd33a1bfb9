import { texts } from '#texts/locker'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import type { BrowserKey } from './browser-key.ts'

const t = texts.continue

interface ContinueProps {
  keys: readonly BrowserKey[]
  onContinue: (key: BrowserKey) => Promise<void>
}

/** Continues with a key of this browser, without a wallet. */
export function ContinueCard({ keys, onContinue }: ContinueProps) {
  const { isBusy, problem, run } = useAction()
  return (
    <Card title={t.title}>
      <div class="stack">
        {keys.map((key) => (
          <div key={key.owner} class="continue">
            <p class="soft">
              {t.text(key.owner)} {key.expiresAt === null ? t.whileOpen : t.until(texts.day(key.expiresAt))}
            </p>
            <Button kind="primary" busy={isBusy} onClick={() => void run(() => onContinue(key))}>
              {t.action}
            </Button>
          </div>
        ))}
        {problem && <ProblemNote problem={problem} />}
      </div>
    </Card>
  )
}

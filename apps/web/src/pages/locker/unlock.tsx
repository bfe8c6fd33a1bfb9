// Unlocking with a wallet or a key.

import { texts } from '#texts/locker'
import { Card } from '../../ui/card.tsx'
import { WalletChooser } from '../../wallets/choose-wallet.tsx'
import { ProblemNote, useAction } from './problems.tsx'
import { createIdentity, type Identity } from './session.ts'

const t = texts.unlock

export function UnlockForm({ onIdentity }: { onIdentity: (identity: Identity) => void }) {
  const { problem, run } = useAction()
  return (
    <div class="stack">
      <WalletChooser
        onConnected={({ name, isSilent, signer }) => {
          const kind = isSilent ? 'key' : 'wallet'
          void run(async () => onIdentity(await createIdentity({ kind, name }, signer)))
        }}
      />
      {problem && <ProblemNote problem={problem} />}
    </div>
  )
}

export function UnlockCard({ onIdentity, hint }: { onIdentity: (identity: Identity) => void; hint?: string }) {
  return (
    <Card title={t.title}>
      <div class="stack">
        <p class="soft">{t.text}</p>
        <UnlockForm onIdentity={onIdentity} />
        {hint && <p class="field-hint">{hint}</p>}
      </div>
    </Card>
  )
}

// Unlocks the page with a wallet or a key.

import { texts } from '#texts/locker'
import { Card } from '../../ui/card.tsx'
import { ProblemNote, useAction } from '../../ui/problems.tsx'
import { WalletChooser } from '../../wallets/choose-wallet.tsx'
import type { Namespace } from '../../wallets/wallet.ts'
import { createIdentity, type Identity } from './session.ts'

const t = texts.unlock

interface UnlockProps {
  onIdentity: (identity: Identity) => void
  /** Offers only wallets of this chain. */
  namespace?: Namespace
}

export function UnlockForm({ onIdentity, namespace }: UnlockProps) {
  const { problem, run } = useAction()
  return (
    <div class="stack">
      <WalletChooser
        {...(namespace && { namespace })}
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

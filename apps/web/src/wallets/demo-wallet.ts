// A wallet of this page for gateways in development: its key is created and stored in this browser, and its money comes
// from the gateway's faucet. The money has no value, so the key may be stored.

import { fromHex, toHex } from '@svc/protocol/bytes'
import { texts as t } from '#texts/wallets'
import { urlOf } from '../address.ts'
import { type FoundWallet, type Namespace, WalletError } from './wallet.ts'

const STORED = 'svc demo wallet'

export const DEMO_WALLETS: readonly FoundWallet[] = (['solana', 'eip155'] as const).map((namespace) => ({
  id: `demo ${namespace}`,
  name: t.demo,
  icon: null,
  namespace,
  async connect() {
    const [{ signerFromEvmKey, signerFromSeed }, { keyPayer }] = await Promise.all([
      import('@svc/sdk/signers'),
      import('./payers.ts'),
    ])
    const secret = await storedSecret()
    const signer = namespace === 'solana' ? signerFromSeed(secret) : signerFromEvmKey(secret)
    await fill(namespace, signer.address)
    return {
      name: t.demo,
      icon: null,
      namespace,
      address: signer.address,
      isSilent: true,
      signer,
      ...(await keyPayer(signer, toHex(secret))),
    }
  },
}))

/** The stored secret; tabs that ask at the same time get the same one. */
async function storedSecret(): Promise<Uint8Array> {
  return navigator.locks.request(STORED, () => {
    const stored = fromHex(localStorage.getItem(STORED) ?? '', 32)
    if (stored) return stored
    const made = crypto.getRandomValues(new Uint8Array(32))
    localStorage.setItem(STORED, toHex(made))
    return made
  })
}

/** Requests demo money. A faucet may refuse because of an earlier gift, which is not an error. */
async function fill(namespace: Namespace, address: string): Promise<void> {
  const response = await fetch(urlOf('/dev/chains/faucet'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ namespace, address }),
    credentials: 'omit',
  }).catch((error: unknown) => {
    throw new WalletError('other', error)
  })
  if (!response.ok && response.status !== 429) throw new WalletError('other', new Error(t.noFaucet))
}

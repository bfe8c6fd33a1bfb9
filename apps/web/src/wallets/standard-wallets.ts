// Browser wallets of the primary chain, which announce themselves by the wallet standard.

import type { SignMessageFeature } from '@svc/sdk/signers'
import { getWallets } from '@wallet-standard/app'
import type { Wallet as StandardWallet, WalletAccount } from '@wallet-standard/base'
import { type FoundWallet, problemOf, shownIcon, shownName, WalletError } from './wallet.ts'

const CONNECT = 'standard:connect'
const SIGN_MESSAGE = 'solana:signMessage'
const SIGN = 'solana:signTransaction'
const SIGN_AND_SEND = 'solana:signAndSendTransaction'

interface ConnectFeature {
  connect(): Promise<{ accounts: readonly WalletAccount[] }>
}

/** Calls back with all wallets, now and whenever one is added or removed. */
export function watchStandardWallets(onWallets: (wallets: FoundWallet[]) => void): () => void {
  const wallets = getWallets()
  const report = () => onWallets(wallets.get().filter(isUsable).map(found))
  const stops = [wallets.on('register', report), wallets.on('unregister', report)]
  report()
  return () => {
    for (const stop of stops) stop()
  }
}

function isUsable({ features, chains }: StandardWallet): boolean {
  const canPay = SIGN in features || SIGN_AND_SEND in features
  return (
    CONNECT in features && SIGN_MESSAGE in features && canPay && chains.some((chain) => chain.startsWith('solana:'))
  )
}

function found(wallet: StandardWallet, place: number): FoundWallet {
  const name = shownName(wallet.name)
  const icon = shownIcon(wallet.icon)
  return {
    id: `standard ${place} ${name}`,
    name,
    icon,
    namespace: 'solana',
    async connect() {
      const account = await accountOf(wallet)
      const [{ signerFromWalletStandard }, { standardPayer }] = await Promise.all([
        import('@svc/sdk/signers'),
        import('./payers.ts'),
      ])
      // The features have the types that the wallet standard declares for their names.
      const signMessage = wallet.features[SIGN_MESSAGE] as SignMessageFeature<WalletAccount>
      return {
        name,
        icon,
        namespace: 'solana',
        address: account.address,
        isSilent: false,
        signer: signerFromWalletStandard(account, signMessage),
        ...(await standardPayer(account, wallet.features[SIGN], wallet.features[SIGN_AND_SEND])),
      }
    },
  }
}

async function accountOf(wallet: StandardWallet): Promise<WalletAccount> {
  const feature = wallet.features[CONNECT] as ConnectFeature
  const { accounts } = await feature.connect().catch((error: unknown) => {
    throw new WalletError(problemOf(error) ?? 'other', error)
  })
  const account = accounts.find(({ chains }) => chains.some((chain) => chain.startsWith('solana:')))
  if (!account) throw new WalletError('no_account')
  return account
}

// Browser wallets of the EVM chain, which announce themselves by EIP-6963 and follow EIP-1193.

import { createStore, type EIP6963ProviderDetail } from 'mipd'
import { ask, type EvmProvider } from './evm-provider.ts'
import { type FoundWallet, shownIcon, shownName, WalletError } from './wallet.ts'

/** Calls back with all wallets, now and whenever one is added. */
export function watchEvmWallets(onWallets: (wallets: FoundWallet[]) => void): () => void {
  const store = createStore()
  const stop = store.subscribe((providers) => onWallets(providers.map(found)), { emitImmediately: true })
  return () => {
    stop()
    store.destroy()
  }
}

function found({ info, provider }: EIP6963ProviderDetail): FoundWallet {
  const name = shownName(info.name)
  const icon = shownIcon(info.icon)
  const wallet = provider as EvmProvider
  return {
    id: `eip6963 ${info.uuid}`,
    name,
    icon,
    namespace: 'eip155',
    async connect() {
      const address = await accountOf(wallet)
      const { toHex } = await import('@svc/protocol/bytes')
      const { injectedEvmPayer } = await import('./payers.ts')
      return {
        name,
        icon,
        namespace: 'eip155',
        address,
        isSilent: false,
        signer: {
          address,
          sign: async (message) => String(await ask(wallet, 'personal_sign', [`0x${toHex(message)}`, address])),
        },
        ...(await injectedEvmPayer(wallet, address)),
      }
    },
  }
}

async function accountOf(wallet: EvmProvider): Promise<string> {
  const accounts = await ask(wallet, 'eth_requestAccounts', [])
  const [account] = Array.isArray(accounts) ? accounts : []
  if (typeof account !== 'string' || !/^0x[0-9a-f]{40}$/i.test(account)) throw new WalletError('no_account')
  return account.toLowerCase()
}

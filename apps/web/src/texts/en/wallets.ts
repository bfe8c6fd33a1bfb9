// Choosing a wallet.

import type { Namespace, WalletProblem } from '../../wallets/wallet.ts'

export const texts = {
  found: 'Wallets in this browser',
  chains: { solana: 'Solana', eip155: 'EVM' } satisfies Record<Namespace, string>,
  none: 'No wallet was found in this browser. Install one and reload the page, or use a key.',
  noneOf: {
    solana: 'No Solana wallet was found in this browser. Install one and reload the page, or use a key.',
    eip155: 'No EVM wallet was found in this browser. Install one and reload the page, or use a key.',
  } satisfies Record<Namespace, string>,
  connecting: (name: string) => `Check ${name}: it asks whether this page may see your address.`,
  demo: 'Demo wallet',
  demoText: 'It holds demo money without value. The key is created and stored in this browser.',
  demoConnecting: 'Getting demo money…',
  noFaucet: 'The faucet of this gateway gave no demo money. Try again in a minute.',
  useKey: 'Use a key',
  wrongChain: {
    solana: 'This is an EVM key. Paying here needs a Solana key.',
    eip155: 'This is a Solana key. Paying here needs an EVM key.',
  } satisfies Record<Namespace, string>,
  keyName: 'Key in this page',
  problems: {
    rejected: 'You declined in the wallet. Nothing was signed.',
    busy: 'The wallet is already waiting for your answer to an earlier request. Open it and answer that first.',
    no_account: 'The wallet offers no account on this chain. Unlock it, choose an account and try again.',
    wrong_network: 'The wallet is on another network. Switch it to the network of the payment and try again.',
    unsupported: 'This wallet does not support what is needed here. Choose another one.',
    other: 'The wallet did not answer as expected. Try again, or choose another one.',
  } satisfies Record<WalletProblem, string>,
  message: (words: string) => `Its message: ${words}`,
}

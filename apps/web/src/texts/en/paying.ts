// Paying from a page: what went wrong, and what only the payer's wallet knows.

export const texts = {
  ask: {
    title: 'What does your wallet say?',
    text: 'Open your wallet and look at its activity. If the payment is there, paste its transaction. If the request is still waiting there, reject it first. Continue below only if nothing was sent: otherwise you would pay twice.',
    nothing: 'Nothing was sent: pay again',
    sure: 'I have looked. My wallet shows no payment and no open request.',
    noRequest: 'My wallet shows no request',
  },
  pasted: {
    tx: 'Transaction',
    hint: 'Base58 on Solana, 0x and 64 hex digits on an EVM chain.',
    wrong: 'This is not a transaction id.',
    confirm: 'I have paid: get the receipt',
  },
  problems: {
    unknown: {
      title: 'It is not certain yet whether the payment was made',
      text: 'It may still arrive on the chain. Look again in a moment. Nothing is paid twice in the meantime.',
    },
    wallet: 'The wallet did not pay',
    gateway: 'The gateway refused this',
    refused: 'The payment was made, but the gateway does not accept it',
    expired: {
      title: 'This price has expired',
      text: 'Nothing was paid. Get a new price and pay again.',
    },
    expiredAfterPaying:
      'The payment reached the chain after the price had expired, so it buys nothing. Do not pay again: send the operator of this gateway the transaction.',
    notFound: {
      title: 'The chain does not show this transaction yet',
      text: 'Check that it is complete and of the right chain. If it was sent just now, try again in a minute.',
    },
    noAnswer: {
      title: 'The gateway does not answer',
      text: 'Check your connection and try again. Nothing is paid twice.',
    },
    short: {
      title: 'The wallet does not have enough money',
      text: (words: string) => `${words} Add money, or choose something else to pay with.`,
    },
    changed: {
      title: 'The price has changed',
      text: 'Nothing was paid. Look at the new amount and pay again.',
    },
    other: 'This did not work',
  },
}

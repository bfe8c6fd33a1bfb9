// Paying from a page: what went wrong, and the questions that only the payer's wallet can answer.

export const texts = {
  ask: {
    title: 'What does your wallet show?',
    text: 'Open your wallet and look at its activity. If the payment is there, paste its transaction. If the request is still waiting there, reject it first. Continue below only if nothing was sent: otherwise you would pay twice.',
    nothing: 'Nothing was sent: pay again',
    sure: 'I have checked: my wallet shows no payment and no open request.',
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
      text: 'It may still arrive on the chain. Check again in a moment. Nothing is paid twice in the meantime.',
    },
    wallet: 'The wallet did not pay',
    gateway: 'The gateway refused the request',
    refused: 'The payment was made, but the gateway does not accept it',
    expired: {
      title: 'This price has expired',
      text: 'Nothing was paid. Get a new price and pay again.',
    },
    expiredAfterPaying:
      'The payment reached the chain after the price had expired, so it buys nothing. Do not pay again: send the transaction to the gateway’s admin.',
    notFound: {
      title: 'The chain does not show this transaction yet',
      text: 'Check that it is complete and on the right chain. If you sent it just now, try again in a minute.',
    },
    noAnswer: {
      title: 'The gateway did not answer',
      text: 'Check your connection and try again. Nothing is paid twice.',
    },
    short: {
      title: 'The wallet does not have enough money',
      text: (words: string) => `${words} Add money, or choose another way to pay.`,
    },
    changed: {
      title: 'The price has changed',
      text: 'Nothing was paid. Check the new amount and pay again.',
    },
    other: 'This did not work',
  },
}

// What the gateway or a wallet refuses, and what to do next.

import { common } from './common.ts'

/** What went wrong, and what to do next. */
type Problem = [title: string, next: string]

export const texts = {
  declined: ['You declined in the wallet', 'Nothing was sent. Try again when you want to.'],
  walletFailed: (message: string) => ['The wallet did not sign', message],
  notKnown: [
    'This key does not open the locker',
    'It is neither the owner nor an operator. Use the wallet that paid, or ask the owner to add your key.',
  ],
  ownerOnly: ['Only the owner may do this', 'Operators read, write and list files. Sign with the wallet that paid.'],
  expired: [
    'The signature came too late',
    'It is good for one minute. Try again and confirm in your wallet sooner. If you did, set the clock of this computer.',
  ],
  clock: ['The clock of this computer is ahead', 'Set it to the right time, then load this page again.'],
  notOpen: ['There is no open locker with this id', 'It may be mistyped, or belong to another gateway.'],
  noReceipt: ['There is no such receipt', 'The id may be mistyped, or belong to another gateway.'],
  renewal: ['This receipt is of a renewal', 'Use the receipt of the first purchase: that one opens the locker.'],
  tooManyLockers: ['You have as many lockers as one owner may have', 'Renew one of them instead of opening another.'],
  tooManyOperators: ['The locker has as many operators as it may have', 'Remove one first.'],
  notOperator: ['This key is no longer an operator', 'It was removed already.'],
  overTerms: ['The locker is full or has expired', 'Renew it, or delete files. What is there can still be read.'],
  frozen: [
    'The operator of the gateway has frozen the locker',
    'Files can be read, but nothing can be changed. Ask the operator why.',
  ],
  takenDown: ['The operator of the gateway has taken the locker down', 'Ask the operator why.'],
  empty: ['There is nothing to prove yet', 'Upload a file first. Files whose bytes have not arrived do not count.'],
  changed: [
    'A file does not match its record',
    'Its bytes no longer have the hash that was recorded when it was uploaded. Upload it again, or delete it; then attest.',
  ],
  busy: (seconds: number) => ['Too many requests', `Try again in ${common.counted(seconds, 'second')}.`],
  storage: ['The storage behind the gateway does not answer', 'Nothing was changed. Try again in a minute.'],
  unavailable: ['The gateway cannot do this right now', 'Nothing was changed. Try again in a minute.'],
  anchor: [
    'The statement was made, but could not be published',
    'Publish it again in a minute; it does not cost more.',
  ],
  noAnswer: ['The gateway did not answer', 'Check your connection, then try again.'],
  untrue: (message: string) => [
    'The gateway gave an answer that cannot be true',
    `Do not rely on it, and tell its operator: ${message}.`,
  ],
  audience: ['The gateway has another address', 'Open this page under the address that the gateway is known by.'],
  other: (message: string, hint: string | null) => [
    message,
    hint ?? 'Try again. If it keeps happening, tell the operator.',
  ],
} satisfies Record<string, Problem | ((...values: never[]) => Problem)>

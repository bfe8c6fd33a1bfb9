// Errors of the gateway or a wallet, and what to do next.

import { common } from './common.ts'

/** What went wrong, and what to do next. */
type Problem = [title: string, next: string]

export const texts = {
  declined: ['You declined in the wallet', 'Nothing was sent. You can try again at any time.'],
  walletFailed: (message: string) => ['The wallet did not sign', message],
  busy: (seconds: number) => ['Too many requests', `Try again in ${common.counted(seconds, 'second')}.`],
  unavailable: ['The gateway cannot do this right now', 'Nothing was changed. Try again in a minute.'],
  noAnswer: ['The gateway did not answer', 'Check your connection, then try again.'],
  untrue: (message: string) => [
    'The gateway gave an answer that cannot be true',
    `Do not rely on it, and tell the gateway’s admin: ${message}.`,
  ],
  other: (message: string, hint: string | null) => [
    message,
    hint ?? 'Try again. If it keeps happening, tell the gateway’s admin.',
  ],
} satisfies Record<string, Problem | ((...values: never[]) => Problem)>

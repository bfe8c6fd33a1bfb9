// The agent page.

import type { DelegationStatus, FindingKind, Run, TaskName } from '@svc/api/agent/delegations'

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'long' })

const statuses: Record<DelegationStatus, string> = {
  pending: 'Key not registered',
  active: 'At work',
  paused: 'Paused: no subscription',
  revoked: 'Key removed',
  ended: 'Ended',
}

const kinds: Record<FindingKind, string> = {
  baseline: 'First look at the locker',
  file_new: 'New file',
  file_changed: 'File changed',
  file_gone: 'File gone',
  statement_new: 'New statement, which follows the one before',
  mirror_changed: 'A mirrored address has changed',
  bytes_differ: 'The bytes of a file are not those of its recorded hash',
  bytes_missing: 'The bytes of a file are missing',
  statement_untrue: 'A statement is not true, or not signed by the gateway',
  statement_lost: 'A statement is gone',
  statement_rewritten: 'A statement was rewritten',
  mirror_failed: 'A mirrored address cannot be fetched',
}

const details: Readonly<Record<string, string>> = {
  filename: 'File',
  url: 'Address',
  reason: 'Reason',
  before: 'Before',
  after: 'After',
  sha256: 'SHA-256',
  actual: 'Found instead',
  size_bytes: 'Bytes',
  total_bytes: 'Bytes in all',
  files: 'Files',
  sequence: 'Statement',
  digest: 'Digest',
  statement: 'Newest statement',
  last_seen: 'Last seen',
  newest: 'Newest now',
  more: 'Further ones like this',
}

const tasks: Record<TaskName, string> = { watch: 'Watch', mirror: 'Mirror', tell: 'Tell' }
const outcomes: Record<Run['outcome'], string> = {
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
}

const entries = (count: number) => (count === 1 ? '1 entry' : `${count} entries`)

export const texts = {
  title: 'Agent service',
  lead: 'A service that looks after your lockers: it checks the files every day, copies addresses into them, and tells you when something is wrong.',
  time: (iso: string) => (Number.isNaN(Date.parse(iso)) ? '–' : DATE.format(new Date(iso))),
  day: (iso: string) => (Number.isNaN(Date.parse(iso)) ? '–' : DAY.format(new Date(iso))),

  none: {
    title: 'This gateway has no agent service',
    text: 'Its operator runs none. Your lockers work without it; you can check them yourself on the verify page or with the command line.',
  },
  down: {
    title: 'The agent service does not answer',
    text: 'Nothing is lost: its work continues when it is back. Your lockers do not depend on it. To take its rights away right now, remove its key under “People” on the page of the locker.',
  },
  index: {
    title: 'The gateway does not answer',
    text: 'Without it, this page does not know where the agent service is.',
  },
  foreign: {
    title: 'This agent service works for another gateway',
    text: (gateway: string) => `It says that it works for ${gateway}. This page hands no locker of this gateway to it.`,
  },

  what: {
    title: 'What it does',
    watch: ['Watch', 'Compares files and statements with what it saw before, reads the bytes back and hashes them.'],
    mirror: ['Mirror', 'Has the gateway fetch addresses that you list into the locker, again and again.'],
    tell: ['Tell', 'Sends what it finds to an address of yours, signed.'],
    price: (price: string, days: number) =>
      `${price} for ${days} days, for all your lockers. It never renews by itself.`,
    rights: 'What you hand over',
    may: 'It can list, read and write the files of a locker that you delegate, like any operator.',
    mayNot: 'It cannot add or remove people, attest, delete the locker, or spend your money.',
    take: 'You can take that back at any time, without asking it.',
  },

  connect: {
    title: 'Connect the wallet that owns your lockers',
    text: 'It signs one request to see your subscription and what you have delegated. The agent service sees its address.',
  },
  connected: 'Connected as',
  disconnect: 'Disconnect',
  waiting: 'Waiting for the wallet and the service…',
  refresh: 'Refresh',

  subscription: {
    title: 'Subscription',
    active: 'Active',
    expired: 'Expired',
    none: 'None',
    until: (day: string) => `Until ${day}.`,
    since: (day: string) =>
      `It ended on ${day}. Delegated lockers are paused; their logs stay, and work goes on once you subscribe again.`,
    noneText: 'You have no subscription. Without one, the service does no work.',
    subscribe: 'Subscribe',
    extend: 'Add 30 days',
    another: 'Ask for a new price',
    legs: 'Pay with',
    noLeg: 'The service takes no payment that this wallet can make. Connect a wallet of the other chain.',
    fee: (fee: string) => `+ up to ${fee} network fee`,
    feeUnknown: 'network fee not known now',
    pay: (amount: string, asset: string) => `Pay ${amount} ${asset}`,
    owner: 'The subscription belongs to the wallet that pays.',
    doing: {
      wallet: 'Look at your wallet: it asks you to pay.',
      sending: 'Sent. Waiting until the chain shows it…',
      confirming: 'Paid. Waiting for the service to confirm…',
      looking:
        'Your wallet was asked to pay, and its answer did not arrive here. Looking for the payment on the chain…',
      other_tab: 'Another tab works on this payment…',
      checking: 'One moment…',
    },
    safe: 'You may close the page: the payment is recorded in this browser and is never made twice.',
    begun: {
      title: 'A payment was begun',
      text: 'This browser recorded a payment whose outcome is not certain. Nothing else is paid before that is settled.',
      look: 'See what became of it',
      voided: 'That payment was not made. You can pay now.',
    },
    done: (day: string) => `Thank you. Your subscription runs until ${day}.`,
    paidElsewhere: 'Another tab has worked on this payment. Look at the subscription above before you pay again.',
  },

  delegations: {
    title: 'Delegated lockers',
    none: 'No locker is delegated yet.',
    statuses,
    locker: 'Locker',
    since: (time: string) => `Delegated ${time}`,
    found: (count: number, alerts: number) =>
      count === 0 ? 'no findings yet' : `${entries(count)} in its log, ${alerts} of them alerts`,
    next: (task: TaskName, time: string) => `${tasks[task] ?? task}: next ${time}`,
    open: 'Show findings',
    close: 'Hide findings',
    register: 'Register its key',
    registerText: 'The service cannot do anything yet: its key is not registered at the gateway.',
    awaited: 'Key registered',
    awaitedText: 'The service notices its key within seconds and then begins. Refresh to see it.',
    registered: 'The key is registered',
    revokedText: 'The gateway no longer lets its key in. Delegate the locker again to go on.',
    end: 'End',
    endTitle: 'End this delegation?',
    endText:
      'Its key is removed from the locker, and the service is told to stop. Its log stays. A wallet is asked to sign twice.',
    ended: 'Ended. Its key is removed from the locker.',
    endedHalf:
      'Its key is removed from the locker, so it can do nothing more there. The service itself did not answer; end it again later.',
  },

  delegate: {
    title: 'Delegate a locker',
    load: 'Show my lockers',
    loadText: 'The gateway lists the lockers that this wallet owns. A wallet is asked to sign.',
    noLockers: 'This wallet owns no open locker at this gateway.',
    buy: 'Buy a locker',
    locker: 'Locker',
    isDelegated: 'Already delegated: this changes what it does there.',
    watch: 'Watch the files and statements',
    every: 'How often',
    hours: (hours: number) =>
      hours === 1 ? 'every hour' : hours === 24 ? 'every day' : hours === 168 ? 'every week' : `every ${hours} hours`,
    bytes: 'Read the bytes back and hash them, not only compare records',
    mirror: 'Mirror addresses into the locker',
    mirrorUrl: 'Address, https',
    mirrorName: 'File in the locker',
    mirrorAdd: 'Add an address',
    mirrorRemove: 'Remove this address',
    tell: 'Tell findings to an address of mine',
    tellUrl: 'Address, https',
    tellHint:
      'It gets a POST for each finding, signed as Standard Webhooks are. The secret is shown with the delegation.',
    onlyAlerts: 'Only alerts',
    notHttps: 'An address begins with https://',
    noName: 'Give the file a name',
    twice: 'Each file can have one address only',
    nothing: 'Choose at least one thing for it to do.',
    summary: 'You hand over',
    rights: (locker: string) => `List, read and write files of ${locker}, by a key made for this locker alone.`,
    doesWatch: (often: string, isBytes: boolean) =>
      `It looks ${often}${isBytes ? ' and reads all bytes' : ', at records only'}.`,
    doesMirror: (count: number, often: string) =>
      `It fetches ${count === 1 ? '1 address' : `${count} addresses`} ${often} and overwrites those files when they change.`,
    doesTell: (host: string, isAlerts: boolean) =>
      `It sends ${isAlerts ? 'alerts' : 'all findings'}, with names of files, to ${host}.`,
    not: 'Nothing else: it cannot manage people, attest, or spend.',
    steps: 'Two signatures: one for the service, one for the gateway to let its key in.',
    submit: 'Delegate',
    change: 'Change',
    done: 'Delegated. Its key is registered at the gateway.',
    half: 'The service has accepted the locker, but its key is not registered yet, so it can do nothing. Register it below.',
  },

  detail: {
    checked: (count: number) => `${entries(count)}, checked in this browser`,
    checkedText:
      'Each is signed by the key below and names the one before it, and none is missing or changed since you last looked.',
    key: 'Signed by',
    keyName: 'key of the service',
    empty: 'Nothing found yet. The first run writes down what there is.',
    untrue: 'This log cannot be trusted',
    untrueText: (reason: string) =>
      `Its signatures do not check, so nothing of it is shown: ${reason}. Keep this message, and ask the operator of the service.`,
    findings: 'Findings',
    severities: { info: 'Info', alert: 'Alert' },
    kinds,
    details,
    more: (count: number) => `Show ${count} more`,
    mirrors: 'Mirrors',
    mirrorStates: {
      ok: 'Fetched',
      waiting: 'Not fetched yet',
      failing: 'Cannot be fetched',
      unknown: 'Perhaps failing',
    },
    mirrorAt: (time: string) => `last run ${time}`,
    runs: 'Latest runs',
    runsText: 'What the service says of its work. Runs are not signed; findings are.',
    noRuns: 'It has not run yet.',
    tasks,
    outcomes,
    told: (delivered: number, undelivered: number) => `${delivered} delivered, ${undelivered} not`,
    secret: 'Secret of the webhook',
    showSecret: 'Show the secret',
    sends: (url: string) => `Findings are sent to ${url}`,
  },

  problems: {
    noAnswer: [
      'The agent service does not answer',
      'Try again in a moment. Nothing was changed that this page does not show.',
    ],
    notSubscribed: ['There is no subscription', 'Subscribe above, then delegate the locker.'],
    limit: ['Too many delegations', 'End one that you no longer need, or try again tomorrow.'],
    gateway: ['The agent service cannot reach the gateway', 'Try again in a moment.'],
    stranger: [
      'The agent service does not accept the signature',
      'Connect the wallet that paid for the locker and the subscription.',
    ],
    storage: [
      'This browser does not let the page store anything',
      'A payment must be recorded before it is made. Leave private browsing or allow storage, then try again.',
    ],
  },
}

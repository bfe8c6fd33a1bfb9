export const texts = {
  title: 'Storage you can prove.',
  lead: 'Pay on chain, get a signed receipt, put your files in a locker. Then prove to anyone that these files existed, unchanged, at that time. They need to trust neither you nor us.',
  buy: 'Buy a locker',
  seeWays: 'Get started',
  picture: {
    label:
      'You pay on chain and get a signed receipt. It opens a locker for your files. Their hashes form one root, which a signed statement publishes on chain. Anyone can check it.',
    pay: 'Pay',
    receipt: 'Receipt',
    locker: 'Locker',
    root: 'Root',
    chain: 'On chain',
    check: 'Anyone checks',
  },
  numbers: {
    title: 'This gateway now',
    lockers: (lockers: number | null) => (lockers === 1 ? 'locker open' : 'lockers open'),
    files: (files: number | null) => (files === 1 ? 'file proven' : 'files proven'),
    anchor: 'last anchor',
    entries: (entries: number | null) => (entries === 1 ? 'entry in the public log' : 'entries in the public log'),
    never: 'none yet',
    ago: (milliseconds: number) => {
      const seconds = Math.max(0, Math.round(milliseconds / 1000))
      const units = [
        [86_400, 'day'],
        [3_600, 'hour'],
        [60, 'minute'],
      ] as const
      const [size, unit] = units.find(([length]) => seconds >= length) ?? [1, 'second']
      return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-Math.floor(seconds / size), unit)
    },
    failed: 'The numbers did not load.',
  },
  verdicts: {
    title: 'What a check answers',
    passed: 'All checks passed',
    passedText: 'These are the files, signed by a key that you trust, and on chain since then.',
    open: 'Not everything was checked',
    openText: 'Nothing failed. The page says what is missing: a key, the files, or a node of the chain.',
    failed: 'Do not rely on this',
    failedText: 'Something was altered. The page says which check failed, and why.',
    action: 'Check evidence',
  },
  ways: {
    title: 'Three ways to start',
    page: {
      title: 'In this browser',
      label: 'first request',
      text: 'Buy a locker with a wallet in this browser or on your phone. Or read the API reference and try requests.',
      buy: 'Buy a locker',
      action: 'Open the API page',
    },
    cli: {
      title: 'From the command line',
      text: 'Buy, upload, attest and verify from a shell.',
      label: 'commands for the shell',
    },
    agent: {
      title: 'For an agent',
      text: 'An MCP server gives a model the tools to buy, store, share and prove, within limits that you set.',
      label: 'configuration of the MCP server',
      command: 'command that adds the MCP server',
      clients: 'Most clients',
      service: 'Or let the agent service watch your lockers.',
      open: 'See what it does',
    },
  },
}

const count = new Intl.NumberFormat('en')

export const texts = {
  title: 'Storage you can prove.',
  lead: 'Pay on chain, get a signed receipt, drop your files in a locker. Then show anybody, without their having to trust you or us, that these files existed, unchanged, at that time.',
  tryApi: 'Try the API',
  seeWays: 'Start in a minute',
  picture: {
    label:
      'You pay on chain and get a signed receipt. It opens a locker for your files. Their hashes form one root, which a signed statement publishes on chain. Anybody can check it.',
    pay: 'Pay',
    receipt: 'Receipt',
    locker: 'Locker',
    root: 'Root',
    chain: 'On chain',
    check: 'Anybody checks',
  },
  numbers: {
    title: 'This gateway now',
    lockers: (lockers: number | null) => (lockers === 1 ? 'locker open' : 'lockers open'),
    files: (files: number | null) => (files === 1 ? 'file proven' : 'files proven'),
    anchor: 'last anchor',
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
  price: {
    title: 'What it costs',
    units: 'Units',
    unitsHint: 'One unit is the smallest locker.',
    provider: 'Kept at',
    storage: 'Storage',
    files: 'Files',
    egress: 'Downloads included',
    time: 'Kept for',
    days: (days: number) => (days % 365 === 0 ? years(days / 365) : `${count.format(days)} days`),
    total: 'Total',
    once: 'once, for the whole time',
    asset: 'Pay with',
    amount: 'Amount',
    network: 'On',
    caption: 'The price in each asset',
    failed: 'Prices did not load',
    gatewayDisk: "Kept on the gateway's own disk.",
  },
  ways: {
    title: 'Three ways in',
    page: {
      title: 'In this page',
      label: 'first request',
      text: 'Read the interface, send requests and see the answers. Sign with a key that never leaves your browser.',
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
    },
  },
}

function years(number: number): string {
  return number === 1 ? '1 year' : `${count.format(number)} years`
}

// The frame of every page.

export const texts = {
  name: 'svc storage gateway',
  tagline: 'Pay on chain, keep files, prove what you keep.',
  development: 'development',
  skip: 'Skip to content',
  navigation: 'Pages',
  home: 'Home',
  buy: 'Buy',
  locker: 'Locker',
  api: 'API',
  theme: { auto: 'Colours: as your system', light: 'Colours: light', dark: 'Colours: dark' },
  index: 'Index for programs',
  openApi: 'OpenAPI',
  keys: 'Signing keys',
  health: 'Health',
  agent: 'Agent service',
  notFound: 'There is no such page',
  notFoundText: 'The address may be mistyped, or the page may belong to a newer release.',
  updated: 'This page was updated meanwhile',
  updatedText: 'Or the connection was lost. Loading it again usually helps.',
  reload: 'Load again',
}

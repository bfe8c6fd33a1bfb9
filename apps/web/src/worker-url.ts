// Browsers that enforce trusted types start no worker from a plain text: a page that has one names this policy.

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string }
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
const policy = trustedTypes?.createPolicy('svc-worker', { createScriptURL: (url) => url })

/** Only for addresses of our own files. Its type is what `new Worker` takes. */
export const trustedWorkerUrl = (url: URL): string => policy?.createScriptURL(url.href) ?? url.href

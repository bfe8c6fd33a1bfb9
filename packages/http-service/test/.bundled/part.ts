export const part = (): string => "one"

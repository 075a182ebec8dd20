export const RELEASES: string[];
export const FULL: string[];
export const NEWEST: string;
export function isOld(release: string): boolean;

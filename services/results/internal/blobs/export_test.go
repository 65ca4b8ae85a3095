package blobs

// InBucketWithin is InBucket with another bound of each request.
var InBucketWithin = inBucket
